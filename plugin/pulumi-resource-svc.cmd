@node "%~dp0\pulumi-resource-svc" %*

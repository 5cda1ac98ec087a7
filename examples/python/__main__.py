import pulumi
import pulumi_svc as svc

config = pulumi.Config()
project_id = config.get("projectId") or "prj-demo"
branch_id = config.get("branchId") or "br-dev"

# Grows to 2 CU under load, and sleeps after five quiet minutes.
api = svc.ComputeEndpoint(
    "api",
    project_id=project_id,
    branch_id=branch_id,
    size=svc.ComputeEndpointSizeArgs(min=0.5, max=2),
    scale_to_zero=svc.ComputeEndpointScaleToZeroArgs(after_seconds=300),
)
auth = svc.AuthIntegration("auth", project_id=project_id)
# With the output of the integration, the domain is created after it, and replaced with it.
svc.WhitelistDomain("domain", project_id=auth.project_id, domain="https://app.example.com")
# The state holds the name of the variable and not the secret.
svc.OAuthProvider(
    "microsoft",
    project_id=auth.project_id,
    provider_id="microsoft",
    client_id="00000000-0000-0000-0000-000000000000",
    client_secret=svc.SecretReferenceArgs(from_env="MICROSOFT_CLIENT_SECRET"),
)
svc.EmailServer(
    "mail",
    project_id=auth.project_id,
    type="standard",
    host="smtp.example.com",
    port=587,
    username="mailer",
    password=config.require_secret("smtpPassword"),
    sender_email="auth@example.com",
    sender_name="Example",
)

branches = svc.get_branches_output(project_id=project_id)

pulumi.export("host", api.host)
pulumi.export("pooledHost", api.pooled_host)
pulumi.export("jwksUrl", auth.jwks_url)
# Encrypted in the state, shown as [secret].
pulumi.export("secretServerKey", auth.secret_server_key)
pulumi.export("firstBranch", branches.results[0].branch_id)

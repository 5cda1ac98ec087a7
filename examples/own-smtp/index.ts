import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();

const auth = new svc.AuthIntegration("auth", {
  projectId: config.get("projectId") ?? "prj-demo",
  branchId: config.get("branchId") ?? "br-main",
});

/** The mail of the managed auth (confirmations, magic links) goes through your own server. */
const mail = new svc.EmailServer("mail", {
  // The output of the integration: if the integration is replaced, this is created again with it.
  projectId: auth.projectId,
  type: "standard",
  host: config.get("smtpHost") ?? "smtp.example.com",
  port: config.getNumber("smtpPort") ?? 587,
  username: config.get("smtpUsername") ?? "mailer",
  // The name of an environment variable: neither the configuration nor the state holds the password.
  password: svc.fromEnv("SMTP_PASSWORD"),
  senderEmail: config.get("senderEmail") ?? "noreply@example.com",
  senderName: config.get("senderName") ?? "Example",
});

export const jwksUrl = auth.jwksUrl;
export const sender = mail.senderEmail;

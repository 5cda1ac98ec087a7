import * as pulumi from "@pulumi/pulumi";
import * as svc from "pulumi-svc";

const config = new pulumi.Config();

/** Managed auth: users sign in with Google (your own application there) or GitHub (the service's), and return to the app. */
const auth = new svc.ProjectAuth("auth", {
  projectId: config.get("projectId") ?? "prj-demo",
  branchId: config.get("branchId") ?? "br-main",
  oauth: {
    google: {
      clientId: config.require("googleClientId"),
      // The name of an environment variable: neither the configuration nor the state holds the client secret.
      clientSecret: svc.fromEnv("GOOGLE_CLIENT_SECRET"),
    },
    // Offered by a new integration from the start: taken over here, so that it is not lost unnoticed.
    github: "shared",
  },
  // The users live in it. To destroy the stack: `pulumi config set deletionProtection false`, then `pulumi up`.
  deletionProtection: config.getBoolean("deletionProtection") ?? true,
  redirectDomains: [config.get("appOrigin") ?? "https://app.example.com", "http://localhost:3000"],
});

export const pubClientKey = auth.integration.pubClientKey;
export const jwksUrl = auth.integration.jwksUrl;
/** Encrypted in the state, shown as [secret]. */
export const secretServerKey = auth.integration.secretServerKey;

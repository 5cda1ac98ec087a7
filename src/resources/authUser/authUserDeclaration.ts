import { addressObject, claim } from "../../contract/claims";
import type { Declaration } from "../../contract/declaration";
import { addressForm, nameForm, textForm } from "../../contract/forms";

/** What a user is declared with (docs/design/api.md, Auth users). Each change replaces the user, with another id. */
export interface AuthUserShape {
  /** The project of an integration: pass its `projectId` output. Changing this replaces the user. */
  projectId: string;
  /**
   * The address, which no other user of the integration may have. Changing this replaces the user; upper and lower case
   * make no difference.
   */
  email: string;
  /**
   * The name of the user, 1 to 255 characters. Changing this replaces the user. Secret: the output is encrypted, and
   * kept if the program leaves the argument out.
   */
  name?: string;
  /**
   * The auth provider's short name; the service supports one. Changing this replaces the user.
   * @default the setting `svc:authProvider`
   */
  authProvider?: string;
}

export interface AuthUserOutputs {
  /** The id in the table of the synced users. */
  userId: string;
  /** The project at the auth provider that the user was created in. */
  authProviderProjectId?: string;
  /** The auth provider's short name, even if the argument is left out. */
  authProvider: string;
  /** The name of the user. Secret. It is kept if the program leaves the argument out. */
  name?: string;
}

export const declaration: Declaration<AuthUserShape, AuthUserOutputs> = {
  kind: "AuthUser",
  id: {
    parts: ["projectId", "userId"],
    form: "<project id>/<user id>",
    example: "prj-demo/5a3c6a9e-0f0d-4b8a-9a53-3f1b1e0c7d21",
  },
  claims: ({ projectId, email }) =>
    claim('an auth user with the same "projectId" and "email"', addressObject, projectId, email),
  args: {
    projectId: { required: true, replaces: true, container: "AuthIntegration", form: nameForm },
    email: { required: true, replaces: true, unreadable: true, form: addressForm },
    name: { replaces: true, form: textForm },
    authProvider: { replaces: true, form: nameForm },
  },
  outputs: {
    userId: { identity: true },
    authProviderProjectId: { identity: true },
    authProvider: {},
    name: { secret: true },
  },
};

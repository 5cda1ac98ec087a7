import type { ResolvedOptions } from "../emulatorOptions";
import {
  hashed,
  newId,
  newSecret,
  now,
  SEEDED_AT,
  type StoredIntegration,
  type StoredKeySet,
  type StoredOAuthProvider,
  type StoredProject,
} from "./records";
import { conflict, invalid, notFound } from "./refusal";
import { findBranch, findIntegration, type Store } from "./store";

/** The schema that the service creates in the database (docs/design/api.md, Auth keys). */
export const SCHEMA_NAME = "svc_auth";
export const TABLE_NAME = "users_sync";

/** A database whose schema outlived its integration, as in a project's `kept_schemas`. */
export const keptSchema = (branchId: string, database: string): string => `${branchId}/${database}`;

/** The request for a new integration. */
export interface NewIntegration {
  auth_provider: string;
  branch_id: string;
  database_name: string;
  role_name: string;
}

/** A new integration offers these two with the service's own keys (docs/design/api.md, OAuth providers). */
const sharedOAuthProviders = (): StoredOAuthProvider[] =>
  ["google", "github"].map((id) => ({ id, type: "shared", created_at: SEEDED_AT }));

/** Operations on auth integrations (docs/design/api.md, Auth integration). */
export class Auth {
  constructor(
    private readonly options: ResolvedOptions,
    private readonly store: Store,
  ) {}

  requireSupportedProvider(authProvider: string): void {
    if (authProvider !== this.options.authProvider) {
      throw invalid("auth_provider: this auth provider is not supported");
    }
  }

  create(project: StoredProject, sent: NewIntegration): StoredIntegration {
    const branch = findBranch(project, sent.branch_id);
    if (!branch.default && !this.options.anyAuthBranch) {
      throw invalid("branch_id: an integration belongs to the production branch, the one flagged as default");
    }
    if (project.integrations.some(({ auth_provider }) => auth_provider === sent.auth_provider)) {
      throw conflict("the project already has an integration with this auth provider");
    }
    if (project.kept_schemas.includes(keptSchema(sent.branch_id, sent.database_name))) {
      throw conflict(`schema "${SCHEMA_NAME}" already exists in the database`);
    }
    return this.add(project, sent);
  }

  /** A new integration, with everything that the project has from its creation. No rule is checked. */
  add(project: StoredProject, sent: NewIntegration): StoredIntegration {
    const integration: StoredIntegration = {
      auth_provider: sent.auth_provider,
      auth_provider_project_id: newId(),
      branch_id: sent.branch_id,
      db_name: sent.database_name,
      role_name: sent.role_name,
      created_at: now(),
      owned_by: "svc",
    };
    project.integrations.push(integration);
    project.oauth_providers = sharedOAuthProviders();
    return integration;
  }

  delete(project: StoredProject, authProvider: string, deleteData: boolean): void {
    const { auth_provider, branch_id, db_name } = findIntegration(project, authProvider);
    this.remove(project, auth_provider);
    if (this.options.variants.keepSchemas && !deleteData) project.kept_schemas.push(keptSchema(branch_id, db_name));
  }

  /** Removes the integration with its objects. No rule is checked. */
  remove(project: StoredProject, authProvider: string): void {
    project.integrations = project.integrations.filter(({ auth_provider }) => auth_provider !== authProvider);
    project.key_sets = project.key_sets.filter(({ auth_provider }) => auth_provider !== authProvider);
    project.oauth_providers = [];
    project.domains = [];
    project.users = [];
    project.email_server = { type: "shared" };
  }

  /** A new key set; older ones stay valid (docs/design/api.md, Auth keys). The server key is not stored. */
  issueKeys(project: StoredProject, { auth_provider }: StoredIntegration): Omit<StoredKeySet, "created_at"> {
    const keys = { auth_provider, pub_client_key: newSecret("pck"), secret_server_key: newSecret("ssk") };
    project.key_sets.push({ ...keys, secret_server_key: hashed(keys.secret_server_key), created_at: now() });
    return keys;
  }

  /** The token of a new transfer. Only its hash is stored, so each call creates a new token; all stay valid. */
  offerTransfer(integration: StoredIntegration): string {
    const token = newId();
    integration.transfer_token_hashes = [...(integration.transfer_token_hashes ?? []), hashed(token)];
    return token;
  }

  /** Confirmed by a user in the browser: the integration now belongs to that user. */
  confirmTransfer(token: string): void {
    const hash = hashed(token);
    const integration = this.store.projects
      .flatMap(({ integrations }) => integrations)
      .find(({ transfer_token_hashes }) => transfer_token_hashes?.includes(hash));
    if (integration === undefined) throw notFound("there is no such transfer");
    integration.owned_by = "user";
    delete integration.transfer_token_hashes;
    this.store.changed();
  }
}

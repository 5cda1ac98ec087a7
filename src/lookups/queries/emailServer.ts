import { readable } from "../../helpers/masked";
import { fresh, type Query } from "./query";
import type { EmailServerOutputResult, GetEmailServerArgs } from "./types";

export const getEmailServerQuery: Query<GetEmailServerArgs, EmailServerOutputResult> = {
  name: "getEmailServer",
  others: [],
  secrets: ["password"],
  find: async ({ client }, { projectId }) => {
    const found = await client.auth.emailServer(projectId, fresh());
    const password = readable(found.password);
    return {
      type: found.type,
      host: found.host,
      port: found.port,
      username: found.username,
      senderEmail: found.sender_email,
      senderName: found.sender_name,
      ...(password !== undefined && { password }),
    };
  },
};

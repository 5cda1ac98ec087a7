import type { Tools } from "../shared/tools";

export const whitelist: Tools = {
  list: "its domains are listed one by one",
  gathers: {
    kind: "WhitelistDomain",
    option: "whitelist",
    noun: "domains",
    gathered: (projectId, count) => ({
      kind: "Whitelist",
      id: projectId,
      describe: `whitelist of ${count} redirect domain${count === 1 ? "" : "s"}`,
      names: () => [],
      word: "domains",
    }),
  },
};

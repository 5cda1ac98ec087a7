import { ENDPOINTS, LISTS } from "./exchanges";
import { probe } from "./probe";
import type { Run, Step } from "./run";

/** What every run asks. None of it changes anything. */
export const generalSteps: readonly Step[] = [
  {
    name: "project",
    does: "read the project and its branches",
    run: async (run) => {
      await probe(run, "GET", "/projects/{project_id}");
      await probe(run, "GET", LISTS.branches[0]);
    },
  },
  {
    name: "unknown-project",
    does: "read a project that does not exist",
    run: (run) => probe(run, "GET", ENDPOINTS, { params: { project_id: unknownProject(run) } }),
  },
  {
    name: "wrong-key",
    does: "read the project with a key that does not exist",
    run: ({ strangerClient, projectId }) =>
      strangerClient().probe({ method: "GET", template: ENDPOINTS, params: { project_id: projectId } }),
  },
];

const unknownProject = ({ token }: Run): string => token;

/** Invisible characters, which the culture-sensitive comparison of .NET, used by the runners, ignores. */
const IGNORED = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu;

/**
 * The lines of a job's output that a CI runner would execute as a command, according to the runners' sources: GitHub
 * Actions looks for "::" at the beginning of a line after white space, and for "##[" anywhere; Azure Pipelines for
 * "##vso[" and "##[", TeamCity for "##teamcity[".
 */
export function runnerCommandsIn(output: string): string[] {
  return output.split(/\r\n|\r|\n/).filter((line) => {
    const read = line.replace(IGNORED, "").trimStart();
    return read.startsWith("::") || ["##[", "##vso[", "##teamcity["].some((mark) => read.toLowerCase().includes(mark));
  });
}

/** Parts from which such commands are built. */
export const RUNNER_PARTS = [
  "#",
  "##",
  "##[",
  "vso[",
  "teamcity[",
  "[",
  "]",
  ":",
  "::",
  "::error::",
  "\u034f",
  "\ufe0f",
  "\u00ad",
];

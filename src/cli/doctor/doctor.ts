import { programFolder } from "../../contract/projectFile";
import { projectName } from "../stack/projectFile";
import { EXIT } from "../exitCodes";
import type { CommandReport } from "../report/commandReport";
import { publish } from "../report/render";
import { message, text, toned, word } from "../report/text";
import type { Check } from "./check";
import { installationChecks } from "./installedPackages";
import { serviceChecks } from "./service";
import { readStack } from "./stack";

export interface DoctorFlags {
  readonly project?: string;
  readonly stack?: string;
  readonly json?: true;
}

/** Reports what is set up and what is missing, and returns the exit code: 1 if a check failed. */
export async function doctor({ project, stack, json }: DoctorFlags): Promise<number> {
  const folder = process.cwd();
  const program = programFolder(folder);
  const { checks: ofStack, configuration, providers } = await readStack(folder, program !== undefined, stack);
  const ofService = await serviceChecks({ configuration, providers, projectName: projectName(folder) }, project);
  const checks = [...installationChecks(program), ...ofStack, ...ofService];
  const ok = checks.every(({ status }) => status !== "failure");
  return publish(doctorReport(ok, checks), json === true ? "json" : "text");
}

const TONES = { ok: "green", warning: "yellow", failure: "red", skipped: "gray" } as const;

/** A row for each check, followed by its remedy. */
function doctorReport(ok: boolean, checks: readonly Check[]): CommandReport {
  const [failures, warnings] = (["failure", "warning"] as const).map(
    (status) => checks.filter((check) => check.status === status).length,
  );
  return {
    json: { ok, checks },
    title: text`Checks`,
    headline: text`failures: ${failures ?? 0}, warnings: ${warnings ?? 0}`,
    sections: [
      {
        rows: checks.flatMap(({ name, status, message: said, remedy }) => [
          [toned(TONES[status], word(status)), text`${name}`, message(said)],
          ...(remedy === undefined ? [] : [[text``, text``, message(remedy)]]),
        ]),
      },
    ],
    exitCode: ok ? EXIT.done : EXIT.failure,
  };
}

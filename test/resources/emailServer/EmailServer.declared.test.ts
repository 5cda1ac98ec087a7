import * as pulumi from "@pulumi/pulumi";
import type { EmailServerArgs } from "../../../src";
import { SHARED, SMTP, STANDARD, started } from "../../support/emailServers";
import { CANARY, expectNoSecrets, PROJECT, thrownBy, UNKNOWN } from "../../support/harness";

describe("what is declared", () => {
  test.each(SMTP)("for a standard server needs %s", async (name) => {
    const given = await started();
    const { [name]: _left, ...rest } = STANDARD;
    expect(await given.check(rest)).toEqual([`${name}: is required for the type "standard"`]);
    expect((await thrownBy(given.create(rest))).message).toContain(`${name}: is required`);
    expect(await given.requests()).toEqual([]);
    expectNoSecrets(given);
  });

  test.each(SMTP)("for the shared server has no %s", async (name) => {
    const given = await started();
    expect(await given.check({ ...SHARED, [name]: STANDARD[name] })).toEqual([
      `${name}: is only allowed for the type "standard"`,
    ]);
    expectNoSecrets(given);
  });

  test("that is not known yet is not missing, and nothing is reported of fields while the type is not known", async () => {
    const given = await started();
    expect(await given.check({ ...STANDARD, password: UNKNOWN, host: UNKNOWN })).toEqual([]);
    expect(await given.check({ ...SHARED, type: UNKNOWN, host: "smtp.example.com" })).toEqual([]);
  });

  test("is refused with all that is wrong at once, by path, without a value", async () => {
    const given = await started();
    const wrong = {
      projectId: PROJECT,
      type: "standard",
      host: `smtp://${CANARY}`,
      port: 65_536,
      username: "",
      password: 1,
      senderEmail: CANARY,
    };
    expect(await given.check(wrong)).toEqual([
      "host: must be a host name, such as smtp.example.com",
      "port: must be a whole number from 1 to 65535",
      "username: must not be empty",
      expect.stringMatching(/^password: must be a string, not a number\. .*--type string`$/),
      "senderEmail: must be an e-mail address",
      'senderName: is required for the type "standard"',
    ]);
    expect(await given.check({ projectId: PROJECT })).toEqual(["type: is required"]);
    expect(await given.check({ ...SHARED, type: CANARY })).toEqual(['type: must be "shared" or "standard"']);
    expectNoSecrets(given);
  });

  test.each([
    ["smtp.example.com", true],
    ["localhost", true],
    ["192.0.2.1", true],
    ["2001:db8::1", true],
    ["[2001:db8::1]", true],
    ["smtp.example.com:587", false],
    ["192.0.2.1:25", false],
    ["smtp.example.com/x", false],
    ["me@smtp.example.com", false],
    ["smtp example.com", false],
    ["", false],
  ])("takes %j for a host: %s", async (host, good) => {
    const given = await started();
    expect((await given.check({ ...STANDARD, host })).length === 0).toBe(good);
  });

  test.each([0, -1, 1.5, 65_536, "587", Number.MAX_SAFE_INTEGER])("takes %j for no port", async (port) => {
    const given = await started();
    expect(await given.check({ ...STANDARD, port })).toEqual([
      expect.stringMatching(
        /^port: must be a whole number from 1 to 65535($|, not the string "587"\. .*config\.requireNumber)/,
      ),
    ]);
  });

  test("is whole or does not compile", () => {
    const projectId = pulumi.output(PROJECT);
    const { type: _type, password: _password, ...half } = { ...STANDARD, projectId };
    const good: EmailServerArgs[] = [
      { projectId, type: "shared" },
      { ...half, type: "standard", password: pulumi.secret("p") },
    ];
    // @ts-expect-error the password is missing
    const noPassword: EmailServerArgs = { ...half, type: "standard" };
    // @ts-expect-error the shared server has no host
    const sharedHost: EmailServerArgs = { projectId, type: "shared", host: "smtp.example.com" };
    // @ts-expect-error there is no such type
    const noSuchType: EmailServerArgs = { projectId, type: "own" };
    expect([...good, noPassword, sharedHost, noSuchType]).toHaveLength(5);
  });
});

/** Makes X.509 certificates (RFC 5280): Node signs and reads them, but makes none. */
import { createHash, createPublicKey, randomBytes, sign, X509Certificate, type KeyObject } from "node:crypto";
import { isIP } from "node:net";

/** A clock in a container or a virtual machine may be behind. */
const SKEW_MS = 24 * 60 * 60_000;

/** A value in DER: its type, its length, and its parts. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  const lengths = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...lengths]), body]);
}

const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts);
const octets = (...parts: readonly Uint8Array[]): Buffer => der(0x04, ...parts);
/** `unused`: of the last byte. */
const bits = (bytes: Uint8Array, unused = 0): Buffer => der(0x03, Buffer.from([unused]), bytes);
const TRUE = der(0x01, Buffer.from([0xff]));

const identifier = (hex: string): Buffer => der(0x06, Buffer.from(hex, "hex"));
const ECDSA_WITH_SHA256 = sequence(identifier("2a8648ce3d040302"));
const COMMON_NAME = identifier("550403");
const SUBJECT_KEY = identifier("551d0e");
const KEY_USAGE = identifier("551d0f");
const ALTERNATIVE_NAMES = identifier("551d11");
const BASIC_CONSTRAINTS = identifier("551d13");
const AUTHORITY_KEY = identifier("551d23");
const EXTENDED_KEY_USAGE = identifier("551d25");
const SERVER_AUTHENTICATION = identifier("2b06010505070301");

const extension = (id: Buffer, value: Buffer): Buffer => sequence(id, octets(value));
const critical = (id: Buffer, value: Buffer): Buffer => sequence(id, TRUE, octets(value));

const nameOf = (name: string): Buffer => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))));
/** UTCTime, which ends with the year 2049. */
const time = (date: Date): Buffer => der(0x17, Buffer.from(date.toISOString().replace(/^..|[-:T]|\.\d+/g, "")));
const spkiOf = (key: KeyObject): Buffer => createPublicKey(key).export({ type: "spki", format: "der" });
const keyIdentifier = (key: KeyObject): Buffer => createHash("sha256").update(spkiOf(key)).digest().subarray(0, 20);

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split(".").map(Number));
  const [head = [], tail = []] = address.split("::").map((half) => half.split(":").filter((group) => group !== ""));
  const zeros = Array<string>(8 - head.length - tail.length).fill("0");
  return Buffer.from([...head, ...zeros, ...tail].map((group) => group.padStart(4, "0")).join(""), "hex");
}

const alternativeName = (name: string): Buffer =>
  isIP(name) === 0 ? der(0x82, Buffer.from(name)) : der(0x87, addressBytes(name));

interface Subject {
  readonly name: string;
  /** Private, of an elliptic curve. */
  readonly key: KeyObject;
}

function certify(subject: Subject, issuer: Subject, until: Date, extensions: readonly Buffer[]): X509Certificate {
  const serial = der(0x02, Buffer.from([1]), randomBytes(15));
  const content = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))), // Version 3.
    serial,
    ECDSA_WITH_SHA256,
    nameOf(issuer.name),
    sequence(time(new Date(Date.now() - SKEW_MS)), time(until)),
    nameOf(subject.name),
    spkiOf(subject.key),
    der(0xa3, sequence(...extensions, extension(SUBJECT_KEY, octets(keyIdentifier(subject.key))))),
  );
  return new X509Certificate(sequence(content, ECDSA_WITH_SHA256, bits(sign("sha256", content, issuer.key))));
}

/** Of an authority that issues certificates of servers only. */
export const authorityCertificate = (authority: Subject, until: Date): X509Certificate =>
  certify(authority, authority, until, [
    critical(BASIC_CONSTRAINTS, sequence(TRUE, der(0x02, Buffer.from([0])))),
    critical(KEY_USAGE, bits(Buffer.from([0x04]), 2)), // keyCertSign
  ]);

/** @param names host names and addresses */
export const serverCertificate = (
  server: Subject,
  names: readonly string[],
  authority: Subject,
  until: Date,
): X509Certificate =>
  certify(server, authority, until, [
    critical(BASIC_CONSTRAINTS, sequence()),
    critical(KEY_USAGE, bits(Buffer.from([0x80]), 7)), // digitalSignature
    extension(EXTENDED_KEY_USAGE, sequence(SERVER_AUTHENTICATION)),
    extension(ALTERNATIVE_NAMES, sequence(...names.map(alternativeName))),
    extension(AUTHORITY_KEY, sequence(der(0x80, keyIdentifier(authority.key)))),
  ]);

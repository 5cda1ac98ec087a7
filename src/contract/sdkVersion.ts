/** The oldest `@pulumi/pulumi` (and CLI) that works: as in the peerDependencies of package.json. */
export const OLDEST_SDK = "3.216.0";

export const versionNumbers = (version: string): number[] => version.replace(/^v/, "").split(/[.-]/, 3).map(Number);

export function isAtLeast(version: string, least: string): boolean {
  const wanted = versionNumbers(least);
  const differing = versionNumbers(version)
    .map((part, index) => part - (wanted[index] ?? 0))
    .find((difference) => difference !== 0);
  return (differing ?? 0) >= 0;
}

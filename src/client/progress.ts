const LEAST_PAUSE_MS = 2_000;

/** One line that moves: passes a text on when it differs from the last one, at most every two seconds. */
export function quietly(onProgress: ((text: string) => void) | undefined): (text: string) => void {
  let last: { text: string; at: number } | undefined;
  return (text) => {
    const now = performance.now();
    if (onProgress === undefined || last?.text === text) return;
    if (last !== undefined && now - last.at < LEAST_PAUSE_MS) return;
    last = { text, at: now };
    onProgress(text);
  };
}

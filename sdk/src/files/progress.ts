const INTERVAL_MS = 100

/**
 * Returns a function that passes a number of bytes on at most ten times a second, and always when
 * the total is reached or the count starts again.
 */
export function throttled(onProgress: ((bytes: number) => void) | undefined, total: number): (bytes: number) => void {
  let shownAt = Number.NEGATIVE_INFINITY
  let shown = -1
  return (bytes) => {
    if (bytes === shown) return
    const now = performance.now()
    if (bytes > shown && bytes < total && now - shownAt < INTERVAL_MS) return
    shownAt = now
    shown = bytes
    onProgress?.(bytes)
  }
}

/** Whether JSON.parse reads the text: the yardstick for readers of our own. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

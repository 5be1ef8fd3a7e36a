// Shows on standard error that a step goes on: after some seconds as one line that changes in a
// terminal, and as a line now and then elsewhere.
const TERMINAL_MS = 1000
const LOG_MS = 10_000
/** The lines of a starting server would end up in a line that changes. */
const QUIET_MS = 5000

export function showProgress(title) {
  const { stderr } = process
  const startedAt = performance.now()
  const elapsedMs = () => performance.now() - startedAt
  const elapsed = () => `${Math.round(elapsedMs() / 1000)} s`
  const clear = stderr.isTTY ? '\r\x1b[K' : ''
  const show = () => {
    // The cursor goes back to the start of the line, so that lines of the server replace it.
    if (elapsedMs() > QUIET_MS) stderr.write(`${clear}  still building, ${elapsed()}${stderr.isTTY ? '\r' : '\n'}`)
  }
  stderr.write(`${title} …\n`)
  const timer = setInterval(show, stderr.isTTY ? TERMINAL_MS : LOG_MS)
  return {
    end(say) {
      clearInterval(timer)
      stderr.write(`${clear}${say(elapsed())}\n`)
    },
  }
}

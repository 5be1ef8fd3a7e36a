// Builds the console while the server starts. Plain JavaScript without packages, like the launcher.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { findNode, ROOT } from './supervise.mjs'

const BUILD = `${ROOT}console/build.mjs`
/** The commands that serve the console. */
const SERVING = ['start', 'server']

/**
 * Starts a build beside the program if it serves a console whose sources are here. The build itself
 * finds out whether there is anything to do. Returns how to stop it.
 */
export function buildConsoleBeside(args, env) {
  if (!isServed(args, env) || !existsSync(BUILD)) return () => {}
  const preload = new URL('stop-with-launcher.mjs', import.meta.url).href
  const child = spawn(findNode(), ['--import', preload, BUILD, '--beside'], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    env: { ...env, SHIPLOCK_LAUNCHED: '1' },
  })
  child.on('error', (error) => console.error(`The console cannot be built: ${error.message}`))
  const stop = () => void child.kill()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, stop)
  return stop
}

/** A directory in SHIPLOCK_CONSOLE has a console that somebody else builds. */
function isServed(args, { SHIPLOCK_CONSOLE: setting = '' }) {
  const asksForHelp = args.some((argument) => argument === '--help' || argument === '-h')
  return SERVING.includes(args[0]) && !asksForHelp && ['', 'on'].includes(setting.trim())
}

import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const ROOT = new URL('../../..', import.meta.url).pathname
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024

/** Runs npm in the root directory of the repository. Returns what it printed on standard output. */
export async function npm(...args: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('npm', args, { cwd: ROOT, maxBuffer: OUTPUT_BYTES_MAX })
    return stdout
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string }
    throw new Error(`${stdout}${stderr}${message}\n"npm ${args[0]}" failed; its output is above.`)
  }
}

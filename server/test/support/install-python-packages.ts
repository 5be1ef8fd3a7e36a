import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { testCache } from './install-go-program.ts'

/** Path of the `bin` of a virtual environment with the packages, made once for all clones of this user. */
export async function installPythonPackages(name: string, packages: string[]): Promise<string> {
  const directory = join(testCache(), `python-${name}`)
  const installed = join(directory, 'installed')
  if (!existsSync(installed)) {
    console.error(`Installing ${packages.join(' and ')} (once, a few seconds) …`)
    await rm(directory, { recursive: true, force: true })
    run('python3', ['-m', 'venv', directory])
    run(join(directory, 'bin', 'pip'), ['install', '--quiet', ...packages])
    await mkdir(installed)
  }
  return join(directory, 'bin')
}

function run(program: string, args: string[]): void {
  const { status, stderr, error } = spawnSync(program, args, { encoding: 'utf8' })
  if (error) throw new Error(`These tests need Python 3 with venv (${error.message}).`)
  if (status !== 0) throw new Error(`${stderr}${program} ${args.join(' ')} failed; its output is above.`)
}

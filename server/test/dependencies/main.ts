// `npm run audit:dependencies [-- --json]`: exits with 1 if a dependency must not be used.
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type LockFile, lockFileMistakes, type Manifest } from './lock-file.ts'
import { type AuditResult, auditByRegistry } from './npm-audit.ts'

const ROOT = new URL('../../..', import.meta.url).pathname
const MANIFESTS = ['package.json', '{server,sdk,cli,action,console,packages/*}/package.json']

const HELP = `npm run audit:dependencies [-- --json]

Looks for known vulnerabilities of severity high or critical in what is installed in production, by npm audit. Where the
registry does not offer that, it says so. The lock file is always checked: exact versions, a SHA-512 of every package,
the registry as the only source, known licenses, no deprecated packages, no install scripts.

Exit code: 0 nothing was found, also if the registry offers no audit; 1 something was found; 2 wrong arguments.`

process.exitCode = await main(process.argv.slice(2))

async function main(args: string[]): Promise<number> {
  if (args.includes('--help')) return print(HELP, 0)
  if (args.some((argument) => argument !== '--json')) return print(HELP, 2)
  const audit = await auditByRegistry(ROOT)
  const mistakes = lockFileMistakes(readJson('package-lock.json') as LockFile, readManifests())
  const failed = mistakes.length > 0 || (audit?.advisories.length ?? 0) > 0
  const json = JSON.stringify({ ok: !failed, audited: audit !== null, advisories: audit?.advisories ?? [], mistakes })
  return print(args.includes('--json') ? json : toText(audit, mistakes), failed ? 1 : 0)
}

function print(text: string, code: number): number {
  console.log(text)
  return code
}

function readJson(path: string) {
  return JSON.parse(readFileSync(join(ROOT, path), 'utf8'))
}

function readManifests(): Manifest[] {
  return globSync(MANIFESTS, { cwd: ROOT }).map((path) => {
    const { dependencies, devDependencies, optionalDependencies } = readJson(path)
    return { path, dependencies: { ...dependencies, ...devDependencies, ...optionalDependencies } }
  })
}

function toText(audit: AuditResult, mistakes: string[]): string {
  const vulnerable = (audit?.advisories ?? []).map(
    ({ name, severity, range, direct }) => `${name} ${range}: ${severity}${direct ? '' : ', through another package'}`,
  )
  return [
    audit === null
      ? 'The registry offers no audit, so known vulnerabilities were not looked for.'
      : `npm audit: ${vulnerable.length} packages with a vulnerability of severity high or critical`,
    ...vulnerable,
    `Lock file: ${mistakes.length} mistakes`,
    ...mistakes,
  ].join('\n')
}

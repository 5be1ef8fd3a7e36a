import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'

const FIXTURES = new URL('../../../server/test/fixtures/', import.meta.url)

/** What the reports of the project contain. */
export const REPORTED = { findings: 20 + 2, tests: 3, lines: 75 }

export type Env = Record<string, string>
export type Ended = { code: number | null; stdout: string; stderr: string }

/** The machine that runs a job: a checkout of `acme/shop`, and nothing of the test's own environment. */
export type Machine = Disposable & {
  checkout: string
  /** The commit that is checked out, on the branch `main`. */
  commit: string
  /** A directory for other files of the job. */
  temp: string
  env: Env
  /** Writes a file of the checkout. */
  addFile(path: string, text: string): void
  /** Runs a command in the checkout and waits for its end. */
  run(command: string[], env: Env): Promise<Ended>
}

export function startMachine(): Machine {
  const root = mkdtempSync(join(tmpdir(), 'shiplock-ci-'))
  const [checkout, temp, prefix] = ['shop', 'temp', 'npm'].map((name) => join(root, name)) as [string, string, string]
  for (const directory of [checkout, temp]) mkdirSync(directory)
  const env = {
    PATH: [join(prefix, 'bin'), ...pathWithoutPackages()].join(delimiter),
    HOME: root,
    LANG: 'C.UTF-8',
    npm_config_prefix: prefix,
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  }
  return {
    checkout,
    temp,
    env,
    commit: fillCheckout(checkout, env),
    addFile: (path, text) => {
      mkdirSync(dirname(join(checkout, path)), { recursive: true })
      writeFileSync(join(checkout, path), text)
    },
    run: (command, own) => run(command, checkout, { ...env, ...own }),
    [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }),
  }
}

/** The programs of this repository's packages would hide that a file did not install one. */
function pathWithoutPackages(): string[] {
  return (process.env.PATH ?? '').split(delimiter).filter((entry) => !entry.includes('node_modules'))
}

/** Every checkout has the same commit. */
const AUTHOR = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.com',
  GIT_AUTHOR_DATE: '2026-03-04T05:06:07Z',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.com',
  GIT_COMMITTER_DATE: '2026-03-04T05:06:07Z',
}

/** A project whose tests write real reports. Returns the commit. */
function fillCheckout(checkout: string, env: Env): string {
  prepareReports(join(checkout, 'prepared'))
  const scripts = {
    test: 'cp -R prepared reports && mkdir -p dist && touch dist/app.js dist/app.js.map && ! test "$SHOP_TESTS_FAIL"',
    deploy: 'echo deployed',
  }
  writeFileSync(join(checkout, 'package.json'), JSON.stringify({ name: 'shop', version: '1.0.0', scripts }))
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: checkout, env: { ...env, ...AUTHOR }, encoding: 'utf8' }).trim()
  git('init', '--quiet', '--initial-branch=main')
  git('add', '.')
  git('commit', '--quiet', '--message=Shop')
  git('remote', 'add', 'origin', 'https://github.com/acme/shop.git')
  return git('rev-parse', 'HEAD')
}

function prepareReports(directory: string): void {
  mkdirSync(join(directory, 'junit'), { recursive: true })
  copyFileSync(new URL('sarif/gosec.sarif', FIXTURES), join(directory, 'scan.sarif'))
  copyFileSync(new URL('cyclonedx/grype.json', FIXTURES), join(directory, 'bom.json'))
  writeFileSync(join(directory, 'lcov.info'), 'SF:app.js\nDA:1,1\nDA:2,1\nDA:3,1\nDA:4,0\nLF:4\nLH:3\nend_of_record\n')
  writeFileSync(join(directory, 'junit', 'shop.xml'), JUNIT)
}

const JUNIT = `<?xml version="1.0"?>
<testsuite name="shop" tests="3" failures="0" errors="0" skipped="1" time="0.5">
  <testcase name="sells" time="0.25"/>
  <testcase name="refunds" time="0.25"/>
  <testcase name="gives away"><skipped/></testcase>
</testsuite>
`

async function run([program = '', ...args]: string[], cwd: string, env: Env): Promise<Ended> {
  const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, stdout, stderr }
}

// Runs a script of package.json (`npm start`, `npm test`, `npm run test:s3`, …): installs missing
// packages, then runs the program on Node 24.
import { buildConsoleBeside } from './server/bin/build-console.mjs'
import { installIfNeeded, runNpm } from './server/bin/install.mjs'
import { ROOT, runProgram } from './server/bin/supervise.mjs'

/** Suites of server/test/suites.ts; `npm test` runs the first. */
const SUITES = [
  'all',
  'stories',
  'operations',
  'journeys',
  'runbooks',
  'upgrade',
  'failover',
  's3',
  'opa',
  'trust',
  'provenance',
  'packages',
  'postgres-upgrade',
  'citus',
]
const PROGRAMS = {
  start: ['server/src/main.ts', 'start'],
  ...Object.fromEntries(SUITES.map((name) => [nameOf(name), ['server/test/run-tests.ts', name]])),
  'test:sdk': ['sdk/test/run-published-tests.ts'],
  'test:console': ['console/test/run-console-tests.ts'],
  'test:crash': ['server/test/crash/main.ts'],
  'audit:dependencies': ['server/test/dependencies/main.ts'],
  bench: ['server/bench/main.ts'],
  'bench:tracking': ['server/bench/tracking/main.ts'],
  house: ['server/test/house/print-house.ts'],
  release: ['release/main.ts'],
}
const CHECKS = ['typecheck', 'lint']

try {
  process.exitCode = await launch(process.argv[2], process.argv.slice(3))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

function nameOf(suite) {
  return suite === 'all' ? 'test' : `test:${suite}`
}

async function launch(command, args) {
  if (command !== 'check' && !Object.hasOwn(PROGRAMS, command)) {
    throw new Error(`usage: node launch.mjs ${[...Object.keys(PROGRAMS), 'check'].join(' | ')}`)
  }
  await installIfNeeded({ all: command !== 'start' })
  if (command === 'check') return check()
  const [file, ...ownArgs] = PROGRAMS[command]
  const stopBuild = command === 'start' ? buildConsoleBeside([...ownArgs, ...args], process.env) : () => {}
  return runProgram(file, [...ownArgs, ...args], ROOT).finally(stopBuild)
}

/** Runs the fast checks of .ci/run. Stops at the first failure. */
async function check() {
  for (const name of CHECKS) {
    const { code } = await runNpm(['run', '--silent', name], 'inherit')
    if (code !== 0) return code
  }
  return 0
}

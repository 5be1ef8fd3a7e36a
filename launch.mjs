// Runs a script of package.json (`npm start`, `npm test`, `npm run test:s3`, …): installs missing
// packages, then runs the program on Node 24.
import { buildConsoleBeside } from './server/bin/build-console.mjs'
import { installIfNeeded, runNpm } from './server/bin/install.mjs'
import { ROOT, runProgram } from './server/bin/supervise.mjs'

const PROGRAMS = {
  start: ['server/src/main.ts', 'start'],
  test: ['server/test/run-tests.ts'],
  'test:failover': ['server/test/run-failover-tests.ts'],
  'test:s3': ['server/test/run-s3-tests.ts'],
  'test:opa': ['server/test/run-opa-tests.ts'],
  'test:provenance': ['server/test/run-provenance-tests.ts'],
  'test:postgres-upgrade': ['server/test/run-postgres-upgrade-tests.ts'],
  'test:citus': ['server/test/run-citus-tests.ts'],
  'test:sdk': ['sdk/test/run-published-tests.ts'],
  'test:crash': ['server/test/crash/main.ts'],
  'audit:dependencies': ['server/test/dependencies/main.ts'],
  'test:console': ['console/test/run-console-tests.ts'],
  'test:packages': ['server/test/run-package-tests.ts'],
  bench: ['server/bench/main.ts'],
  'bench:tracking': ['server/bench/tracking/main.ts'],
  release: ['release/main.ts'],
}
const CHECKS = ['typecheck', 'lint', 'format:check']

try {
  process.exitCode = await launch(process.argv[2], process.argv.slice(3))
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

async function launch(command, args) {
  if (command !== 'check' && !Object.hasOwn(PROGRAMS, command)) {
    throw new Error(`usage: node launch.mjs ${[...Object.keys(PROGRAMS), 'check'].join(' | ')}`)
  }
  await installIfNeeded()
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

// Tests the built console in Chromium: `npm run test:console`, with arguments as `npm test` takes
// them. Without a browser the tests are skipped, except with CI=1.
import { spawnSync } from 'node:child_process'
import { findChromium } from '../../server/test/support/chromium.ts'
import { runTestFiles } from '../../server/test/support/run-test-files.ts'

const ROOT = new URL('../..', import.meta.url).pathname
const ALL = 'console/test/**/*.test.ts'
/** Times are measured alone: other browsers on the machine would be measured, too. */
const BUDGETS = 'console/test/budgets.test.ts'
/** Makes the pictures of the documentation, when somebody asks for new ones. */
const PICTURES = process.env.SHIPLOCK_DOCS_SCREENSHOTS === '1' ? [] : ['console/test/docs-screenshots.test.ts']

process.exitCode = await run()

async function run(): Promise<number> {
  try {
    const chromium = await findChromium()
    if (!build()) return 1
    return await runTests({ SHIPLOCK_TEST_CHROMIUM: chromium })
  } catch (error) {
    console.error((error as Error).message)
    if (process.env.CI) return 1
    console.error('The tests of the console were skipped.')
    return 0
  }
}

async function runTests(env: Record<string, string>): Promise<number> {
  const isPart = process.argv.length > 2
  if (isPart) return runTestFiles({ include: ALL, exclude: PICTURES }, env)
  const code = await runTestFiles({ include: ALL, exclude: [BUDGETS, ...PICTURES] }, env)
  return (await runTestFiles({ include: BUDGETS, exclude: [] }, env)) || code
}

function build(): boolean {
  const { status } = spawnSync('npm', ['run', '--silent', 'build', '--workspace', 'console'], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  return status === 0
}

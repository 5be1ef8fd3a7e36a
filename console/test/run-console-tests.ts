// Tests the built console in Chromium: `npm run test:console`, with arguments as `npm test` takes
// them. Without a browser the tests are skipped, except with CI=1.
import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { findChromium } from '../../server/test/support/chromium.ts'
import { ROOT, runTestFiles } from '../../server/test/support/run-test-files.ts'

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
  const flags = process.argv.slice(2).filter((argument) => argument.startsWith('-'))
  const parts = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
  const all = globSync(ALL, { cwd: ROOT, exclude: PICTURES })
  if (parts.length + flags.length > 0) {
    const files = parts.length === 0 ? all : all.filter((file) => parts.some((part) => file.includes(part)))
    if (files.length === 0) throw new Error(`no test file has ${parts.join(' or ')} in its path`)
    return runTestFiles(files, { flags, env })
  }
  const code = await runTestFiles(
    all.filter((file) => file !== BUDGETS),
    { env },
  )
  return (await runTestFiles([BUDGETS], { env })) || code
}

function build(): boolean {
  const { status } = spawnSync('npm', ['run', '--silent', 'build', '--workspace', 'console'], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  return status === 0
}

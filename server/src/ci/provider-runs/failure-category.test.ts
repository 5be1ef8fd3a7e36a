import assert from 'node:assert/strict'
import { test } from 'node:test'
import { classifyFailure, type FailureCategory } from './failure-category.ts'

/** Lines of real logs, by the category that they give. docs/runs.md shows them. */
const OUTPUT: [category: FailureCategory, tool: string, line: string][] = [
  ['test', 'pytest', 'FAILED tests/test_cart.py::test_total - assert 3 == 4'],
  ['test', 'pytest summary', '=================== 1 failed, 211 passed in 3.42s ==================='],
  ['test', 'Jest', 'Tests:       1 failed, 42 passed, 43 total'],
  ['test', 'Vitest', ' Test Files  1 failed | 12 passed (13)'],
  ['test', 'Mocha', '  2 failing'],
  ['test', 'Go', '--- FAIL: TestTotal (0.00s)'],
  ['test', 'Go package', 'FAIL\tgithub.com/acme/shop/cart\t0.012s'],
  ['test', 'node:test', '# fail 1'],
  ['test', 'TAP', 'not ok 3 - adds a line'],
  ['test', 'Maven', '[ERROR] Tests run: 14, Failures: 1, Errors: 0, Skipped: 0'],
  ['test', 'Gradle', '> There were failing tests. See the report at: file:///checkout/shop/index.html'],
  ['test', 'RSpec', '12 examples, 1 failure'],
  ['test', 'Cargo', 'test result: FAILED. 41 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out'],
  ['test', '.NET', 'Failed!  - Failed:     1, Passed:    20, Skipped:     0, Total:    21, Duration: 1 s'],
  ['lint', 'ESLint', '✖ 3 problems (2 errors, 1 warning)'],
  ['lint', 'Prettier', '[warn] Code style issues found in 2 files. Run Prettier with --write to fix.'],
  ['lint', 'Ruff and Flake8', 'app/cart.py:12:80: E501 line too long (92 > 79 characters)'],
  ['lint', 'mypy', 'Found 2 errors in 1 file (checked 31 source files)'],
  ['lint', 'RuboCop', '120 files inspected, 4 offenses detected'],
  ['lint', 'ShellCheck', 'In build.sh line 3: SC2086 (info): Double quote to prevent globbing'],
  ['dependency', 'npm conflict', 'npm error code ERESOLVE'],
  ['dependency', 'npm package', 'npm ERR! code E404'],
  ['dependency', 'pnpm', ' ERR_PNPM_OUTDATED_LOCKFILE  Cannot install with "frozen-lockfile"'],
  ['dependency', 'pip', 'ERROR: No matching distribution found for acme-shop==9.9.9'],
  ['dependency', 'Maven artifact', 'Could not find artifact com.acme:shop:jar:1.2 in central'],
  ['dependency', 'Go module', 'go: github.com/acme/gone@v1.0.0: reading go.mod: 404 Not Found: repository not found'],
  ['dependency', 'NuGet', 'error NU1101: Unable to find package Acme.Shop'],
  ['dependency', 'Cargo crate', 'error: failed to select a version for `serde`.'],
  ['build', 'TypeScript', "src/cart.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'."],
  ['build', 'Rust', 'error[E0308]: mismatched types'],
  ['build', 'C linker', "cart.c:(.text+0x9): undefined reference to `total'"],
  ['build', 'javac', 'src/Cart.java:9: error: cannot find symbol'],
  ['build', 'Maven compiler', '[ERROR] COMPILATION ERROR :'],
  ['build', 'webpack', "Module not found: Error: Can't resolve './cart'"],
  ['build', 'Go compiler', 'FAIL\tgithub.com/acme/shop/cart [build failed]'],
  ['build', 'make', 'make: *** [Makefile:12: all] Error 2'],
  ['build', 'Docker', 'ERROR: failed to solve: process "/bin/sh -c npm run build" did not complete: exit code: 1'],
  [
    'infrastructure',
    'runner shutdown',
    'The runner has received a shutdown signal. This can happen when the runner service is stopped.',
  ],
  ['infrastructure', 'lost runner', 'The self-hosted runner: linux-3 lost communication with the server.'],
  ['infrastructure', 'disk', 'System.IO.IOException: No space left on device'],
  ['infrastructure', 'memory', 'Error: Process completed with exit code 137.'],
  ['infrastructure', 'DNS', 'curl: (6) Could not resolve host: packages.example.com'],
  ['infrastructure', 'network', 'npm error code ETIMEDOUT'],
  ['infrastructure', 'registry limit', 'toomanyrequests: You have reached your pull rate limit.'],
  [
    'timeout',
    'job',
    'The job running on runner GitHub Actions 2 has exceeded the maximum execution time of 60 minutes.',
  ],
  ['timeout', 'step', "The action 'Run tests' has timed out after 10 minutes."],
  ['unknown', 'nothing', 'Error: Process completed with exit code 1.'],
]

for (const [category, tool, line] of OUTPUT) {
  test(`${category} by the output of ${tool}`, () => {
    assert.equal(classifyFailure({ status: 'failure', names: [], lines: ['starting', line, 'done'] }), category)
  })
}

const NAMES: [category: FailureCategory, names: string[]][] = [
  ['test', ['Run npm test']],
  ['lint', ['Run npm run lint']],
  ['lint', ['Lint tests', 'test']],
  ['dependency', ['Install dependencies', 'test']],
  ['dependency', ['Run npm ci', 'build']],
  ['build', ['Run make all']],
  ['build', ['Deploy', 'build']],
  ['unknown', ['Deploy to production', 'release']],
]

for (const [category, names] of NAMES) {
  test(`${category} by the names ${names.join(', ')}`, () => {
    assert.equal(
      classifyFailure({ status: 'failure', names, lines: ['Process completed with exit code 1.'] }),
      category,
    )
  })
}

test('the output decides before the names', () => {
  const lines = ['npm error code ERESOLVE']
  assert.equal(classifyFailure({ status: 'failure', names: ['Run npm test'], lines }), 'dependency')
})

test('a status of timed_out or cancelled decides before the output', () => {
  const of = (status: 'timed_out' | 'cancelled', lines: string[]) => classifyFailure({ status, names: ['test'], lines })
  assert.equal(of('timed_out', ['--- FAIL: TestTotal']), 'timeout')
  assert.equal(of('cancelled', ['--- FAIL: TestTotal']), 'cancelled')
  assert.equal(of('cancelled', ['The job has exceeded the maximum execution time of 1h0m0s']), 'timeout')
})

// Builds, installs and starts the published packages, and checks the files in deploy/: `npm run
// test:packages`, with arguments as `npm test` takes them. Needs the npm registry.
import { runTestFiles } from './support/run-test-files.ts'

process.exitCode = await runTestFiles({ include: 'server/test/packages/**/*.test.ts', exclude: [] })

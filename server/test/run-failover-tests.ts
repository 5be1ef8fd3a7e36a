// Runs the tests of several machines, on PostgreSQL servers of their own: `npm run test:failover`, with
// arguments as `npm test` takes them.
import { runTestFiles } from './support/run-test-files.ts'

process.exitCode = await runTestFiles({ include: 'server/test/failover/*.test.ts', exclude: [] })

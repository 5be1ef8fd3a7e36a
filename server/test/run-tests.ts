// Runs every test that needs no other program: `npm test`, `npm test -- <part of a file's path> …`.
// Arguments that begin with a dash go to `node --test` as they are (--test-name-pattern=…,
// --test-only).
import { runTestFiles } from './support/run-test-files.ts'

process.exitCode = await runTestFiles({
  include: '{server,sdk,cli,action,console}/{src,test}/**/*.test.ts',
  exclude: [
    'server/test/{citus,s3,opa,verifiers,failover,packages,postgres-upgrade}/**',
    'sdk/test/published/**',
    'console/test/**',
  ],
})

import { installGoProgram } from './install-go-program.ts'

/** Path of the S3 server that the tests run against (docs/adr/0006-s3.md). */
export function installS3Server(): Promise<string> {
  return installGoProgram({
    package: 'github.com/versity/versitygw/cmd/versitygw',
    version: 'v1.8.0',
    what: 'the S3 server',
  })
}

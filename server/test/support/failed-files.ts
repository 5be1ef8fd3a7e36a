import type { TestEvent } from 'node:test/reporters'

/**
 * A reporter of `node --test`: the file and the name of each test and suite that failed by itself,
 * as JSON, one a line.
 */
export default async function* failedFiles(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of source) {
    if (type !== 'test:fail' || data.file === undefined || data.todo) continue
    const { failureType } = data.details.error as { failureType?: string }
    if (failureType !== 'subtestsFailed') yield `${JSON.stringify({ file: data.file, name: data.name })}\n`
  }
}

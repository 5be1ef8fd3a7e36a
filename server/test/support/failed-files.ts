import type { TestEvent } from 'node:test/reporters'

/** A reporter of `node --test`: the path of the file of each failure, one a line. */
export default async function* failedFiles(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of source)
    if (type === 'test:fail' && data.file !== undefined && !data.todo) yield `${data.file}\n`
}

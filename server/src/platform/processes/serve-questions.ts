/**
 * A message to a `BoundedProcess`: a part of an answer, or its end. The first message means
 * "ready".
 */
export type ProcessMessage<Part> = { end: false; part: Part } | { end: true }

/**
 * Answers the questions of a `BoundedProcess`, part by part. An error ends the process, and so does
 * the end of the parent. Signals that reach both are ignored, because the parent finishes its work
 * first.
 */
export function serveQuestions<Question, Part>(answer: (question: Question) => AsyncIterable<Part>): void {
  const say = (message: ProcessMessage<Part>) => process.send?.(message)
  process.on('message', async (question: Question) => {
    for await (const part of answer(question)) say({ end: false, part })
    say({ end: true })
  })
  process.on('disconnect', () => process.exit())
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
  say({ end: true })
}

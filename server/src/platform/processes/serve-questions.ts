/** What a `BoundedProcess` hears: a part of an answer, or that it is complete. The first of all says that it is ready. */
export type ProcessMessage<Part> = { end: false; part: Part } | { end: true }

/**
 * The answering side of a `BoundedProcess`: answers part by part what it is asked. What throws ends the process; so does the end of
 * the one that asks, and no signal that both of them get, because that one still finishes what it has begun.
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

import { parentPort } from 'node:worker_threads'

/** What a `BoundedThread` hears: a part of an answer, or that it is complete. The first of all says that it is ready. */
export type ThreadMessage<Part> = { end: false; part: Part } | { end: true }

/** The thread's side of a `BoundedThread`: answers part by part what it is asked. What throws ends the thread. */
export function serveQuestions<Question, Part>(answer: (question: Question) => AsyncIterable<Part>): void {
  const port = parentPort
  if (!port) throw new Error('This module runs as a thread.')
  const say = (message: ThreadMessage<Part>) => port.postMessage(message)
  port.on('message', async (question: Question) => {
    for await (const part of answer(question)) say({ end: false, part })
    say({ end: true })
  })
  say({ end: true })
}

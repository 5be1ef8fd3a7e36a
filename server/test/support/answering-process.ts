import { serveQuestions } from '../../src/platform/processes.ts'

/** Answers with the words of the question, of which some mean trouble. */
serveQuestions<string[], string>(async function* (words) {
  for (const word of words) {
    if (word === 'endless') while (true);
    if (word === 'throw') throw new Error('as asked')
    if (word === 'greedy') hoard()
    yield word
  }
})

function hoard(): void {
  const kept: number[][] = []
  while (true) kept.push(Array.from({ length: 10_000 }, (_, index) => index))
}

import { serveQuestions } from '../../platform/threads/serve-questions.ts'
import { answerRules } from './answer-rules.ts'
import type { ThreadPart, ThreadQuestion } from './policy-questions.ts'
import { answerModule } from './answer-module.ts'

/** The thread in which rules and modules of organizations run: bounded in time and memory, and away from the API. */
serveQuestions<ThreadQuestion, ThreadPart>(async function* (question) {
  if (question.type === 'cel') yield* answerRules(question.rules, question.input)
  else yield await answerModule(question)
})

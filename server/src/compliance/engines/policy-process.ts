import { serveQuestions } from '../../platform/processes/serve-questions.ts'
import { answerModule } from './answer-module.ts'
import { answerRules } from './answer-rules.ts'
import type { Part, Question } from './policy-questions.ts'

/** The process in which rules and modules of organizations run: bounded in time and memory, and away from the API. */
serveQuestions<Question, Part>(async function* (question) {
  if (question.type === 'cel') yield* answerRules(question.rules, question.input)
  else yield await answerModule(question)
})

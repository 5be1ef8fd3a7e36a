import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { notifyDone } from '../../actions/notify.tsx'
import { client } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { describeProblem } from '../../page/states.tsx'
import type { Deployment } from '../facts/deployment-state.ts'
import { type AnswerKind, type AnswerProblem, describeAnswerProblem } from './answer-options.ts'

const PATH = '/app/api/orgs/{org}/deployments'

type Words = { comment: string; reason: string }

type Options = { onAnswered: () => void; onBusy: (isBusy: boolean) => void }

/** Sends an answer once, whatever is pressed meanwhile, and reads again what holds then. */
export function useSendAnswer(deployment: Deployment, { onAnswered, onBusy }: Options) {
  const { slug: org } = useOrganization()
  const queries = useQueryClient()
  const [problem, setProblem] = useState<AnswerProblem | null>(null)
  const [isBusy, setBusy] = useState(false)
  const isSending = useRef(false)
  const show = (busy: boolean) => {
    isSending.current = busy
    setBusy(busy)
    onBusy(busy)
  }
  const readAgain = () =>
    queries.invalidateQueries({
      predicate: ({ queryKey: [, path] }) => typeof path === 'string' && path.startsWith(PATH),
    })
  const send = async (kind: AnswerKind, words: Words) => {
    if (isSending.current) return
    show(true)
    setProblem(null)
    try {
      const status = await post(kind, { org, id: deployment.id }, words)
      void readAgain()
      notifyDone(describe(kind, deployment, status))
      onAnswered()
    } catch (error) {
      await readAgain()
      setProblem(describeAnswerProblem(error, describeProblem(error)))
    } finally {
      show(false)
    }
  }
  return { send, problem, isBusy }
}

async function post(kind: AnswerKind, path: { org: string; id: string }, words: Words): Promise<Deployment['status']> {
  const comment = words.comment.trim()
  const reason = words.reason.trim()
  const init = { params: { path }, body: { ...(comment && { comment }), ...(reason && { reason }) } }
  const { data } =
    kind === 'reject' ? await client.POST(`${PATH}/{id}/reject`, init) : await client.POST(`${PATH}/{id}/approve`, init)
  return data?.data.status ?? 'pending_approval'
}

function describe(kind: AnswerKind, deployment: Deployment, status: Deployment['status']): string {
  const name = `${deployment.repository_full_name} to ${deployment.environment}`
  if (kind === 'reject') return `You rejected ${name}.`
  return status === 'pending_approval'
    ? `Your approval of ${name} was recorded. It needs other approvals, too.`
    : `You approved ${name}.`
}

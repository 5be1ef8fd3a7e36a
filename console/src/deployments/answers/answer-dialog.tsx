import { Alert, Button, Group, Modal, Stack, Textarea } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { type FormEvent, useEffect, useState } from 'react'
import { formatCount } from '../../page/numbers.ts'
import { DeploymentStateBadge } from '../facts/deployment-parts.tsx'
import { type Deployment, fullStateOf } from '../facts/deployment-state.ts'
import {
  ANSWER_LABELS,
  type AnswerKind,
  type AnswerProblem,
  COMMENT_MAX,
  type Decision,
  lengthOf,
  REASON_MAX,
  reasonMistake,
} from './answer-options.ts'
import { AnswerRecord } from './answer-record.tsx'
import { useSendAnswer } from './use-send-answer.ts'

const TITLES: Record<AnswerKind, string> = {
  approve: 'Approve deployment',
  override: 'Override policies and approve',
  reject: 'Reject deployment',
}

type AnswerDialogProps = {
  /** Null: closed. */
  kind: AnswerKind | null
  deployment: Deployment
  decision: Decision
  onClose: () => void
  onAnswered: () => void
}

/** Shows what will be recorded, asks for a comment or a reason, and sends the answer once. */
export function AnswerDialog({ kind, ...props }: AnswerDialogProps) {
  const [shown, setShown] = useState(kind)
  // The content stays while the dialog closes.
  if (kind !== null && kind !== shown) setShown(kind)
  const [isBusy, setBusy] = useState(false)
  const [isAnswered, setAnswered] = useState(false)
  useEffect(() => {
    if (kind !== null) setAnswered(false)
  }, [kind])
  const onAnswered = () => {
    setAnswered(true)
    props.onAnswered()
  }
  return (
    <Modal
      opened={kind !== null}
      onClose={props.onClose}
      title={shown && TITLES[shown]}
      size="lg"
      closeOnEscape={!isBusy}
      closeOnClickOutside={!isBusy}
      withCloseButton={!isBusy}
      // The button that opened it goes with the answer. What was decided has the focus instead.
      returnFocus={!isAnswered}
    >
      {shown && <AnswerForm {...props} kind={shown} onBusy={setBusy} onAnswered={onAnswered} />}
    </Modal>
  )
}

type AnswerFormProps = Omit<AnswerDialogProps, 'kind'> & { kind: AnswerKind; onBusy: (isBusy: boolean) => void }

function AnswerForm({ kind: asked, deployment, decision, onClose, onAnswered, onBusy }: AnswerFormProps) {
  const [comment, setComment] = useState('')
  const [reason, setReason] = useState('')
  const [mistake, setMistake] = useState<string | null>(null)
  const answer = useSendAnswer(deployment, { onAnswered, onBusy })
  const { problem, isBusy } = answer
  const kind = problem?.needsReason ? 'override' : asked
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const found = kind === 'override' ? reasonMistake(reason) : null
    setMistake(found)
    if (found === null) void answer.send(kind, { comment, reason: kind === 'override' ? reason : '' })
  }
  if (problem?.isFinal) return <Refused problem={problem} deployment={deployment} onClose={onClose} />
  return (
    <form onSubmit={submit} noValidate>
      <Stack>
        <AnswerRecord kind={kind} deployment={deployment} decision={decision} />
        {problem && <ProblemAlert problem={problem} />}
        {kind === 'override' && (
          <Textarea
            label="Reason"
            description={`${formatCount(lengthOf(reason))} of 10 to ${REASON_MAX} characters. Everybody who sees the deployment can read it.`}
            required
            autosize
            minRows={2}
            maxRows={8}
            value={reason}
            error={mistake}
            data-autofocus
            onChange={({ currentTarget }) => {
              setReason(currentTarget.value)
              if (mistake !== null) setMistake(reasonMistake(currentTarget.value))
            }}
          />
        )}
        <Textarea
          label="Comment"
          description={`Optional. ${formatCount(comment.length)} of ${formatCount(COMMENT_MAX)} characters.`}
          autosize
          minRows={2}
          maxRows={8}
          maxLength={COMMENT_MAX}
          value={comment}
          data-autofocus={kind === 'override' ? undefined : true}
          onChange={({ currentTarget }) => setComment(currentTarget.value)}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} disabled={isBusy}>
            Cancel
          </Button>
          <Button type="submit" loading={isBusy} color={kind === 'approve' ? undefined : 'red.9'}>
            {ANSWER_LABELS[kind]}
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function ProblemAlert({ problem: { title, text } }: { problem: AnswerProblem }) {
  return (
    <Alert color="red" variant="light" role="alert" icon={<IconAlertTriangle />} title={title}>
      {text}
    </Alert>
  )
}

type RefusedProps = { problem: AnswerProblem; deployment: Deployment; onClose: () => void }

/** The answer came too late, or the user may not give it: what holds now. */
function Refused({ problem, deployment, onClose }: RefusedProps) {
  return (
    <Stack>
      <ProblemAlert problem={problem} />
      <Group gap="xs">
        The deployment is now: <DeploymentStateBadge state={fullStateOf(deployment)} />
      </Group>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose} data-autofocus>
          Close
        </Button>
      </Group>
    </Stack>
  )
}

import { Button, Code, CopyButton, Group, Modal, Stack, Text, TextInput } from '@mantine/core'
import { type FormEvent, useMemo } from 'react'
import { encode } from 'uqr'
import { useAttempt } from '../actions/use-attempt.ts'
import { useApiMutation } from '../api/updates.ts'
import { FormProblem } from '../page/form-problem.tsx'

export type Enrolment = { secret: string; uri: string }

type TotpEnrolmentProps = {
  enrolment: Enrolment | null
  onEnrolled: (recoveryCodes: string[]) => void
  onClose: () => void
}

export function TotpEnrolment({ enrolment, onEnrolled, onClose }: TotpEnrolmentProps) {
  return (
    <Modal opened={enrolment !== null} onClose={onClose} title="Turn on two-factor authentication">
      {enrolment && <EnrolmentForm enrolment={enrolment} onEnrolled={onEnrolled} />}
    </Modal>
  )
}

function EnrolmentForm({ enrolment, onEnrolled }: Pick<TotpEnrolmentProps, 'onEnrolled'> & { enrolment: Enrolment }) {
  const { mutateAsync: confirmTotp } = useApiMutation('post', '/app/api/account/totp/confirm', ['account'])
  const { isBusy, problem, run } = useAttempt()
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const code = String(new FormData(event.currentTarget).get('code')).replaceAll(' ', '')
    run(async () => {
      const { data } = await confirmTotp({ body: { code } })
      onEnrolled(data.recovery_codes)
    })
  }
  return (
    <form onSubmit={submit}>
      <Stack>
        <Text size="sm">Scan this code with an authenticator app, then enter the six digits that the app shows.</Text>
        <QrCode text={enrolment.uri} />
        <Group justify="center" gap="xs">
          <Code>{enrolment.secret}</Code>
          <CopyButton value={enrolment.secret}>
            {({ copied, copy }) => (
              <Button variant="subtle" size="compact-sm" onClick={copy}>
                {copied ? 'Copied' : 'Copy key'}
              </Button>
            )}
          </CopyButton>
        </Group>
        <FormProblem problem={problem} />
        <TextInput
          label="Code"
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          maxLength={20}
          required
          data-autofocus
        />
        <Button type="submit" loading={isBusy}>
          Turn on
        </Button>
      </Stack>
    </form>
  )
}

/** Dark on light in both themes, because cameras expect it. */
function QrCode({ text }: { text: string }) {
  const { path, size } = useMemo(() => drawCode(text), [text])
  return (
    <svg
      viewBox={`0 0 ${size} ${size}`}
      width={184}
      height={184}
      role="img"
      aria-label="QR image of the key"
      shapeRendering="crispEdges"
      style={{ alignSelf: 'center', borderRadius: 8 }}
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#000" />
    </svg>
  )
}

function drawCode(text: string): { path: string; size: number } {
  const { data, size } = encode(text, { ecc: 'M', border: 3 })
  const squares = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')))
  return { path: squares.join(''), size }
}

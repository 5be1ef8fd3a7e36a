import { Button, Group, Stack, Text, Title } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { type ReactNode, useEffect } from 'react'
import { FormProblem, useAttempt } from '../../actions/attempt.tsx'
import { askForPasskey, passkeyObstacle } from '../../actions/passkeys.ts'
import { client } from '../../api/client.ts'
import { Logo } from '../../page/page.tsx'
import classes from './entrance.module.css'

type EntranceProps = {
  /** The heading, and the title of the document. */
  title: string
  /** A sentence under the heading. */
  about?: ReactNode
  children: ReactNode
}

/** The frame of the pages that people see before they are signed in. */
export function Entrance({ title, about, children }: EntranceProps) {
  useEffect(() => {
    document.title = `${title} · Shiplock`
  }, [title])
  return (
    <main className={classes.entrance}>
      <Stack className={classes.card} gap="lg">
        <Group gap={10}>
          <Logo size={28} />
          <Text fw={600} size="lg">
            Shiplock
          </Text>
        </Group>
        <Stack gap={6}>
          <Title order={1}>{title}</Title>
          {about && (
            <Text c="dimmed" size="sm" component="div">
              {about}
            </Text>
          )}
        </Stack>
        {children}
      </Stack>
    </main>
  )
}

/** The passkey tells which account it is for, so there is nothing to type. */
export function PasskeyButton({ onSignedIn }: { onSignedIn: () => void }) {
  const { isBusy, problem, run } = useAttempt()
  const obstacle = passkeyObstacle()
  const signIn = async () => {
    const { data } = await client.POST('/app/api/sign-in/passkey/options')
    if (!data) return
    await client.POST('/app/api/sign-in/passkey', { body: { credential: await askForPasskey(data.data) } })
    onSignedIn()
  }
  return (
    <Stack gap="xs">
      <Button
        variant="default"
        leftSection={<IconKey size={16} aria-hidden />}
        loading={isBusy}
        disabled={obstacle !== null}
        onClick={() => run(signIn)}
      >
        Sign in with a passkey
      </Button>
      {obstacle && (
        <Text size="xs" c="dimmed">
          {obstacle}
        </Text>
      )}
      <FormProblem problem={problem} />
    </Stack>
  )
}

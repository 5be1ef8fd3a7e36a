import { Alert, Button, CloseButton, Group, Paper, Stack, Text } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'
import { lazyRouteComponent } from '@tanstack/react-router'
import { type ComponentType, lazy, type ReactNode, Suspense, useCallback, useEffect, useState } from 'react'
import { fetchServedConsole, type ServedConsole } from '../api/served-console.ts'
import classes from './page.module.css'
import { ErrorBoundary } from './states.tsx'

/** A script of the console did not arrive. */
export class ScriptError extends Error {
  override readonly name = 'ScriptError'
}

async function loadScript<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load()
  } catch (cause) {
    throw new ScriptError('A script of the console could not be loaded.', { cause })
  }
}

/**
 * The component of a route, which is loaded with its page. Without `ScriptError`, the router reloads
 * the document when a script is missing, and a tab that is offline loses everything.
 */
export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module & string>(
  load: () => Promise<Module>,
  name: Name,
) {
  return lazyRouteComponent(() => loadScript(load), name)
}

type LazyPartOptions<Props> = {
  /** Shown until the part is loaded. */
  waiting?: (props: Props) => ReactNode
  /** Shown in place of a part that cannot be loaded. */
  failed?: (props: Props) => ReactNode
}

const nothing = () => null
const problemInPlace = () => <ScriptProblem title="This part of the page could not be loaded" />

/** A part of a page that is loaded when it is shown for the first time. */
export function lazyPart<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  { waiting = nothing, failed = problemInPlace }: LazyPartOptions<Props> = {},
): ComponentType<Props> {
  const Part = lazy(async () => ({ default: await loadScript(load) })) as ComponentType<Props>
  return (props) => {
    const fallback = (error: unknown) => {
      if (error instanceof ScriptError) return failed(props)
      throw error
    }
    return (
      <ErrorBoundary fallback={fallback}>
        <Suspense fallback={waiting(props)}>
          <Part {...props} />
        </Suspense>
      </ErrorBoundary>
    )
  }
}

/** What to do about a script that did not arrive. */
export function ScriptProblem({ title }: { title: string }) {
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle />} title={title} role="alert">
      <ReloadAdvice />
    </Alert>
  )
}

/** The same in a corner, for what has no place on the page: a dialog, a menu. */
export function ScriptNotice({ title, onShown }: { title: string; onShown?: () => void }) {
  const [isOpen, setOpen] = useState(true)
  useEffect(() => onShown?.(), [onShown])
  return (
    isOpen && (
      <Paper role="alert" shadow="md" withBorder p="sm" className={classes.notice}>
        <Group justify="space-between" wrap="nowrap" align="flex-start">
          <Text size="sm" fw={500}>
            {title}
          </Text>
          <CloseButton size="sm" aria-label="Close notification" onClick={() => setOpen(false)} />
        </Group>
        <ReloadAdvice />
      </Paper>
    )
  )
}

const ADVICE: Record<ServedConsole | 'asking', string> = {
  asking: 'Checking whether the server can be reached …',
  unreachable: 'The server cannot be reached. Check your connection, then try again.',
  same: 'The server can be reached again. Reload the page to go on.',
  updated: 'Shiplock was updated. Reload the page to use the new version.',
}

/**
 * Browsers do not ask again for a script that did not arrive, so that only a reload helps. It would
 * lose the page while the server is away: the button asks for the server first.
 */
function ReloadAdvice() {
  const [state, setState] = useState<ServedConsole | 'asking'>('asking')
  const ask = useCallback(() => void fetchServedConsole().then(setState), [])
  useEffect(() => {
    ask()
    addEventListener('online', ask)
    return () => removeEventListener('online', ask)
  }, [ask])
  const act = async () => {
    const served = await fetchServedConsole()
    if (served === 'unreachable') setState(served)
    else location.reload()
  }
  return (
    <Stack gap="sm" align="flex-start">
      <Text size="sm" aria-live="polite">
        {ADVICE[state]}
      </Text>
      <Button size="xs" variant="default" onClick={act}>
        {state === 'unreachable' ? 'Try again' : 'Reload'}
      </Button>
    </Stack>
  )
}

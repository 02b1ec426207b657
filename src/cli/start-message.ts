/** What a service that was started on a terminal says: what it is, where it listens, and how to go on. */
import { version } from '../server/version.ts'

export interface StartMessage {
  readonly url: string
  /** Of OTLP over gRPC; undefined where there is none. */
  readonly otlpGrpcPort: number | undefined
  readonly dataDirectory: string
  /** Why uWebSockets.js does not load, where it would have been taken. */
  readonly httpServerFault: string | undefined
  /** The owner's key, if it was made up on this start: it is shown this once. */
  readonly newKey: string | undefined
  /** Whether the first owner's key was chosen by whoever started the service. */
  readonly isKeyChosen: boolean
}

const labelWidth = 12

/** Some lines for a person, with an empty one before and after. */
export function startMessage(message: StartMessage): string {
  const { url, otlpGrpcPort, dataDirectory, newKey, httpServerFault } = message
  const page = newKey === undefined ? url : `${url}/#key=${newKey}`
  const grpc = otlpGrpcPort === undefined ? '' : `, gRPC on port ${otlpGrpcPort}`
  const http = httpServerFault === undefined ? [] : [['HTTP', instead(httpServerFault)] as const]
  const lines: readonly (readonly [label: string, text: string])[] = [
    ['Open', page],
    ['API', `${url}, documented at ${url}/docs`],
    ['OTLP', `${url}/otel${grpc}`],
    ['Data', dataDirectory],
    ['Key', keyLine(message)],
    ...http,
    ['Stop', 'Ctrl-C'],
  ]
  const shown = lines.map(([label, text]) => `  ${label.padEnd(labelWidth)}${text}`)
  return ['', `  Assay ${version}`, '', ...shown, '', ''].join('\n')
}

/** Which server it is in place of uWebSockets.js, and why. */
export function instead(fault: string): string {
  return `Node’s own server, as uWebSockets.js does not load here: ${fault}`
}

function keyLine({ newKey, isKeyChosen }: StartMessage): string {
  if (newKey !== undefined) return `${newKey} (shown this once)`
  if (isKeyChosen) return 'the one in ASSAY_BOOTSTRAP_KEY'
  return 'the one that was shown on the first start, or one made since'
}

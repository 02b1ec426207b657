/** All that the HTTP server answers, but WebSockets. */
import type { Access } from '../access/access.ts'
import type { SecretBox } from '../access/secret-box.ts'
import type { SignInSettings } from '../access/sign-in-settings.ts'
import type { Attachments } from '../attachment/attachments.ts'
import type { BackupState } from '../backup/backup-state.ts'
import type { Engine } from '../engine.ts'
import type { LanguageModel } from '../search/ask-model.ts'
import type { AsyncQueries } from './async/async-queries.ts'
import { docsRoutes } from './docs/routes.ts'
import { documentRoutes } from './document/routes.ts'
import type { ScheduledExports } from './export/scheduled-exports.ts'
import { LanguageModels } from './language-model.ts'
import type { LiveQueries } from './live/live-queries.ts'
import type { Logger } from './logger.ts'
import type { Metrics } from './metrics.ts'
import type { Home } from './nodes/home.ts'
import { OpenIdSignIn } from './openid/sign-in.ts'
import type { PublicUrl } from './public-url.ts'
import type { RecordInserter } from './record-inserter.ts'
import { PromptStore } from './resource/prompt-store.ts'
import { restRoutes } from './resource/routes.ts'
import { storedMaskingRoutes } from './resource/stored-masking.ts'
import type { Retention } from './retention/retention.ts'
import { adminRoutes } from './route/admin.ts'
import { appRoutes } from './route/app/routes.ts'
import { attachmentRoutes } from './route/attachment/routes.ts'
import { backupRoutes } from './route/backup.ts'
import { btqlRoutes } from './route/btql.ts'
import { asyncRoutes } from './route/btql-async.ts'
import { editorRoutes } from './route/editor.ts'
import { exportRoutes } from './route/export.ts'
import { insertRoutes } from './route/insert.ts'
import { invokeRoutes } from './route/invoke.ts'
import { mcpRoutes } from './route/mcp.ts'
import { nodeRoutes } from './route/nodes.ts'
import { notRunRoutes } from './route/not-run.ts'
import { openIdRoutes } from './route/openid.ts'
import { otlpRoutes } from './route/otlp/export.ts'
import type { ExportReceiver } from './route/otlp/receive.ts'
import { pageRoutes } from './route/page.ts'
import { recordRoutes } from './route/records/routes.ts'
import { retentionRoutes } from './route/retention.ts'
import { scheduledExportRoutes } from './route/scheduled-export.ts'
import { searchRoutes } from './route/search.ts'
import { sessionRoutes } from './route/session.ts'
import { statusRoutes } from './route/status.ts'
import { streamRoutes } from './route/stream.ts'
import type { Route } from './route.ts'
import { Vocabularies } from './vocabularies.ts'

export interface RouteParts {
  readonly engine: Engine
  readonly access: Access
  readonly attachments: Attachments
  readonly asyncQueries: AsyncQueries
  readonly secrets: SecretBox
  readonly backups: BackupState
  readonly dataDirectory: string
  readonly signIn: SignInSettings
  /** The operator's key, which signs in whatever else does. */
  readonly bootstrapKey?: string | undefined
  readonly languageModel?: LanguageModel | undefined
  readonly maxBodyBytes: number
  readonly publicUrl: PublicUrl
  readonly live: LiveQueries
  readonly metrics: Metrics
  readonly receiver: ExportReceiver
  readonly writer: RecordInserter
  readonly retention: Retention
  readonly exports: ScheduledExports
  readonly ready: () => boolean
  /** Of a query node. */
  readonly home?: Home | undefined
  readonly logger: Logger
}

export function allRoutes(parts: RouteParts): Route[] {
  const { engine, access, attachments, secrets, publicUrl, live, logger, writer } = parts
  const { maxBodyBytes } = parts
  const prompts = new PromptStore(engine)
  const vocabularies = new Vocabularies(engine)
  const openIdSettings = parts.signIn.openId
  const openId = openIdSettings && new OpenIdSignIn({ access, secrets, logger }, openIdSettings)
  const routes = [
    ...byAny(statusRoutes(engine, { ready: parts.ready, maxBodyBytes, home: parts.home })),
    ...byAny(btqlRoutes(engine)),
    ...asyncRoutes(parts.asyncQueries),
    ...byAny(streamRoutes({ engine, live, logger })),
    ...byAny(
      adminRoutes({
        engine,
        live,
        backups: parts.backups,
        metrics: parts.metrics,
        home: parts.home,
      }),
    ),
    ...backupRoutes(parts),
    ...nodeRoutes(parts),
    ...appRoutes({ engine, access, attachments, prompts, publicUrl }),
    ...mcpRoutes(engine, publicUrl),
    ...notRunRoutes,
    ...invokeRoutes(engine),
    ...otlpRoutes(parts.receiver),
    ...recordRoutes({ engine, writer, attachments, publicUrl, maxBodyBytes }),
    ...attachmentRoutes({ engine, access, attachments, publicUrl }),
    ...editorRoutes(engine, vocabularies),
    ...exportRoutes(engine),
    ...byAny(pageRoutes(publicUrl)),
    ...byAny(docsRoutes(publicUrl)),
    ...sessionRoutes({
      access,
      publicUrl,
      logger,
      settings: parts.signIn,
      bootstrapKey: parts.bootstrapKey,
      openId,
    }),
    ...openIdRoutes({ signIn: openId, publicUrl, logger }),
    ...searchRoutes(engine, vocabularies, new LanguageModels(parts.languageModel, secrets)),
    ...insertRoutes(writer),
    ...retentionRoutes(parts.retention, {
      engine,
      attachments,
      exports: parts.exports,
      backups: parts.backups,
      dataDirectory: engine.directory,
    }),
    ...scheduledExportRoutes(parts.exports, engine.catalog),
    ...restRoutes(prompts, secrets),
    ...storedMaskingRoutes(engine, writer),
  ]
  return [...routes, ...byAny(documentRoutes(routes, publicUrl))]
}

/** What every node answers from what it has. */
function byAny(routes: readonly Route[]): Route[] {
  return routes.map((route) => ({ ...route, servedBy: 'any' }))
}

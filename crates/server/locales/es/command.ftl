command-next-steps =
    quire guarda documentos en cajas y los ofrece por HTTPS: búsqueda, texto completo, preguntas y respuestas.

      quire quickstart                       probarlo: crea una cuenta, una caja y una clave, y arranca el servidor
      quire serve --data DIR                 iniciar un servidor; antes: `quire user add`, `box add` y `key add`
      quire doctor --data DIR                comprobar una instalación
      quire add BOX PATH…                    subir archivos    (con una clave en QUIRE_API_KEY)
      quire sync BOX DIR                     mantener iguales una carpeta y una caja
      quire search BOX QUERY                 buscar en una caja
      quire ask BOX QUESTION                 preguntar a una caja

    `quire --help` muestra todos los comandos; `quire COMANDO --help` explica uno.
command-ready =
    quire { $version } está listo.

      Dirección  { $url }
      Cuenta     { $account }
      Caja       { $box } ({ $id })
      Clave API  { $key }
                 se muestra solo una vez; vale hasta el { $expires } o hasta que el próximo quickstart la sustituya

    { $dashboard }

    Pruebe la API:

      { $check }

    La caja contiene la documentación de quire. Búsquela:

      { $search }

    Hágale una pregunta y añada sus propios documentos:

      { $export }
      { $ask }
      { $add }

    Todo se guarda en { $data }. Ctrl-C detiene el servidor.
command-set-up-link = Configure el panel con este enlace (funciona una sola vez): { $link }
command-dashboard-at = El panel está en { $url }
command-created-folder = Se ha creado { $folder }
command-error = error:
command-because = causa: { $cause }
command-type-yes = Escriba { $yes } para confirmar:
command-yes = sí

command-preparing = Preparando la carpeta de datos
command-loading = Cargando los modelos y abriendo las cajas
command-processing-sample = Procesando los documentos de ejemplo
command-asking = Preguntando
command-asking-server = Consultando al servidor
command-searching = Buscando
command-checking = Comprobando
command-checking-model = Comprobando { $name }
command-fetching = Descargando { $name }
command-copying = Copiando
command-copying-originals = Originales
command-copying-boxes = Cajas
command-restoring = Restaurando
command-copying-records = Copiando los registros
command-switching = Comparando ambas copias y cambiando a la nueva
command-deleting = Eliminando
command-deleting-file = Eliminando el archivo { $number } de { $count }
command-exporting = Exportando
command-importing = Importando
command-reading-back = Releyendo lo escrito
command-comparing-box = Comparando con lo que contiene la caja
command-comparing-folder = Comparando la carpeta con la caja
command-listing = Listando los archivos
command-uploading = Subiendo
command-processing = Procesando
command-rebuilding = Reconstruyendo
command-files = archivos
command-originals = originales
command-questions = preguntas
command-busy = El servidor está ocupado o se ha alcanzado su límite; nuevo intento en { $count } s
command-watching = Vigilando { $folder }; Ctrl-C termina

command-place = { $file }, página { $page }
command-note = Nota: { $text }
command-nothing-found = No se ha encontrado nada.
command-units =
    { $count ->
        [one] 1 unidad
       *[other] { $count } unidades
    }
command-units-left = { $units }, quedan { $count } este mes

command-answerer-right = { $model }: { $right } de { $count } correctas
command-answerer-cannot = no puede: tales peticiones reciben un error
command-box-added = Se ha añadido la caja { $box } ({ $id })
command-box-language = El idioma de { $box } es ahora { $language }
command-box-language-rebuilt = El idioma de { $box } es ahora { $language }; el servidor reconstruye su índice y mientras tanto la caja se puede usar
command-no-boxes = Todavía no hay cajas; añada una con `quire box add NAME --owner EMAIL`.
command-no-usable-box = Esta clave no puede usar ninguna caja: su usuario debe ser propietario o administrador de alguna.
command-granted = { $email } es ahora { $role } de { $box }
command-revoked-role = { $email } ya no tiene ningún rol en { $box }
command-moved-box = { $box } se ha movido del clúster { $from } al { $to }: { $files }
command-delete-box = ¿Eliminar definitivamente la caja { $box } y sus { $count } archivos?
command-deleted-box = Se ha eliminado la caja { $box }
command-exported = { $box } se ha exportado a { $file }: { $files } archivos, { $passages } pasajes
command-exported-unread = { $said }; { $count } de ellos aún no se han procesado y se procesarán después de la importación
command-imported = Se ha importado la caja { $box } ({ $id }) para { $owner }: { $files } archivos, { $passages } pasajes
command-imported-other-model = La exportación se indexó con el modelo { $before } y este servidor usa { $model }: sus { $count } archivos se procesan de nuevo, como si se acabaran de subir, y después se podrán encontrar.
command-imported-unread = { $count } archivos aún no se habían procesado; están en la cola.
command-backed-up = Copia de seguridad de { $from } en { $to }: { $files } archivos, { $copied } de ellos copiados ({ $megabytes } MB), los demás sin cambios desde la copia anterior
command-backup-changed = { $count } archivos cambiaron mientras tanto; se procesan de nuevo tras una restauración.
command-backup-damaged = { $count } originales están dañados en el almacén y por tanto en la copia: véase `quire doctor --scrub`
command-backup-sound = { $backup } del { $when } está en buen estado: { $files } archivos
command-restored =
    { $backup } del { $when } se ha restaurado en { $folder }: { $files } archivos, todos comparados con sus sumas de comprobación.
    Inícielo con `quire serve --data { $folder }`.
command-migrated = Se han movido { $records } registros, { $originals } originales y el texto de { $files } archivos; todo comparado y sin diferencias.
command-added-files = { $added } añadidos, { $known } ya estaban, { $failed } con error
command-no-files = Todavía no hay archivos; añada algunos con `quire add BOX PATH…`.
command-processing-page = procesando { $page }/{ $pages }
command-deleted-file = Se ha eliminado { $name }: { $originals } original, { $pages } páginas, { $chunks } pasajes, { $vectors } vectores
command-new-key =
    { $key }

    Guárdela bien: se muestra solo una vez y solo se almacena su hash.
command-no-keys = Todavía no hay claves; cree una con `quire key add --user EMAIL`.
command-revoked-key = Se ha revocado { $prefix }, con efecto desde la próxima petición
command-exposed = expuesta
command-all = todas
command-anywhere = cualquier sitio
command-none = ninguno
command-pulled = { $model } descargado y comprobado: { $folder }
command-pulled-before = { $model } ya está aquí, intacto: { $folder }
command-user-has = { $email } tiene ahora { $limits }
command-plan-gives = El plan { $plan } da { $limits }
command-usual-units = las unidades mensuales predeterminadas
command-units-a-month = { $count } unidades al mes
command-gone-back = Se ha vuelto al índice de { $model }; { $count } archivos se procesan de nuevo.
command-reindexed = Se han indexado { $files } archivos ({ $passages } pasajes) con { $model } (antes: { $before }); { $overlap }. `quire reindex BOX --back` vuelve atrás.
command-overlap = el { $share } % de lo que hallaron las últimas { $count } búsquedas también lo halla el nuevo índice
command-no-queries = no había búsquedas recientes que comparar
command-user-added = Se ha añadido { $email } ({ $id })
command-no-users = Todavía no hay cuentas; añada una con `quire user add EMAIL`.
command-default = predeterminado
command-user-disabled = desactivada
command-user-unconfirmed = dirección sin confirmar
command-user-active = activa
command-disabled = Se ha desactivado { $email }, con efecto desde la próxima petición
command-enabled = Se ha activado { $email }, con efecto desde la próxima petición
command-unlocked = Se ha desbloqueado { $email }: el próximo inicio de sesión no tiene que esperar
command-confirmed = Se ha confirmado { $email }: las invitaciones pendientes para esta dirección ya tienen efecto
command-logged-questions = Hay { $count } preguntas en { $file }; revise y corrija lo que cada una debe encontrar antes de usarlas
command-sync-gone = { $count } archivos de { $source } ya no existen allí. ¿Eliminarlos de la caja?
command-sync-held-back = { $count } archivos ya no están en la carpeta; permanecen en la caja hasta que se ejecute `quire sync` con --yes
command-synced = { $added } añadidos, { $changed } modificados, { $renamed } renombrados, { $removed } eliminados, { $failed } con error, { $unchanged } sin cambios
command-skipped = { $count } omitidos
command-more-skipped = …; --json los muestra todos

command-head-name = NOMBRE
command-head-id = ID
command-head-language = IDIOMA
command-head-created = CREADO
command-head-members = MIEMBROS
command-head-role = ROL
command-head-status = ESTADO
command-head-pages = PÁGINAS
command-head-size = TAMAÑO
command-head-note = NOTA
command-head-prefix = PREFIJO
command-head-account = CUENTA
command-head-state = ESTADO
command-head-last-used = ÚLTIMO USO
command-head-expires = CADUCA
command-head-boxes = CAJAS
command-head-may = PUEDE
command-head-from = DESDE
command-head-email = CORREO
command-head-plan = PLAN
command-head-units = UNIDADES/MES
command-head-bounds = LÍMITES
command-head-used-as = SE USA COMO
command-head-in-use-as = EN USO COMO
command-head-model = MODELO
command-head-version = VERSIÓN
command-head-place = LUGAR
command-head-what = QUÉ
command-head-it = PRUEBA
command-head-result = RESULTADO
command-head-cites = CITA
command-head-first-word = PRIMERA PALABRA
command-head-whole = TOTAL
command-head-said = DIJO
command-no = no
command-trial-prose = responde a partir de un texto
command-trial-table = responde a partir de una tabla
command-trial-german = responde en alemán
command-trial-none = dice cuándo no hay respuesta
command-trial-json = responde en JSON

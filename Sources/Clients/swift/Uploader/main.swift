// An example of an app for Curfew: it uploads photos, in front and in background, and loses none.
//
//     exec = ["/usr/bin/uploader-example"]
//     delegate = "varlink"

import Curfew
import Glibc

/// Into the app's log. What is still in a buffer is lost when an app is killed.
func log(_ text: String) {
    print(text)
    fflush(nil)
}

/// What is still to be uploaded.
actor Album {
    private var photos = (1...20).map { "photo-\($0).jpeg" }
    private var isUploading = false

    /// Goes on where it stopped; a photo that is cut off half way stays in the album.
    func upload() async throws {
        if isUploading { return }
        isUploading = true
        defer { isUploading = false }
        while let photo = photos.first {
            try await Task.sleep(for: .seconds(1))  // what a real upload would take
            photos.removeFirst()
            log("uploaded \(photo), \(photos.count) to go")
        }
    }
}

struct Uploader: ApplicationDelegate {
    let album = Album()

    /// Begun in front, and finished wherever the app is by then: while it holds a task it is not suspended.
    func upload(_ app: Application) async throws {
        try await app.startBackgroundTask(named: "upload") { _ in try await album.upload() }
    }

    func didBecomeActive(_ app: Application, deadline: Deadline) async throws {
        try await upload(app)
    }

    func willTerminate(_ app: Application, reason: String, deadline: Deadline) {
        log("ending: \(reason)")
    }
}

let uploader = Uploader()
let app = try await Application.start(delegate: uploader)
// At a desk no handler is called.
if !app.isSupervised { try await uploader.upload(app) }
try await app.run()

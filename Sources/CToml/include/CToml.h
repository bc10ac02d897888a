#pragma once
#ifdef __cplusplus
extern "C" {
#endif
int ctoml_present(void);
#ifdef __cplusplus
}
#endif
